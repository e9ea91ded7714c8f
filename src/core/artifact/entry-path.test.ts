import { describe, expect, it } from 'vitest';
import { EntryPaths, entryPath } from './entry-path.ts';

describe('the path of an entry', () => {
  it.each([
    ['main.js', 'main.js'],
    ['a/b/c.py', 'a/b/c.py'],
    ['./a/b', 'a/b'],
    ['././a', 'a'],
    ['a/', 'a'],
    ['.', ''],
    ['./', ''],
    ['.hidden/…/é', '.hidden/…/é'],
    ['a..b/..c', 'a..b/..c'],
    ['dir/a:b', 'dir/a:b'],
  ])('%j is %j', (written, path) => expect(entryPath(written)).toBe(path));

  it.each([
    ['/etc/passwd', 'ARCHIVE_ABSOLUTE_PATH'],
    ['//host/share', 'ARCHIVE_ABSOLUTE_PATH'],
    ['..', 'ARCHIVE_PARENT_PATH'],
    ['../a', 'ARCHIVE_PARENT_PATH'],
    ['a/../../b', 'ARCHIVE_PARENT_PATH'],
    ['./../a', 'ARCHIVE_PARENT_PATH'],
    ['a\\b', 'ARCHIVE_BACKSLASH'],
    ['..\\a', 'ARCHIVE_BACKSLASH'],
    ['a\u0000b', 'ARCHIVE_NUL'],
    ['C:/a', 'ARCHIVE_DRIVE_LETTER'],
    ['./c:a', 'ARCHIVE_DRIVE_LETTER'],
    ['', 'ARCHIVE_PATH_INVALID'],
    ['a//b', 'ARCHIVE_PATH_INVALID'],
    ['a/./b', 'ARCHIVE_PATH_INVALID'],
    ['a\nb', 'ARCHIVE_PATH_INVALID'],
    ['a\ufffdb', 'ARCHIVE_PATH_INVALID'],
    ['a\ud800b', 'ARCHIVE_PATH_INVALID'],
    ['é'.repeat(128), 'ARCHIVE_PATH_INVALID'],
    ['a/'.repeat(600), 'ARCHIVE_PATH_INVALID'],
  ])('%j is refused: %s', (written, code) => {
    expect(() => entryPath(written)).toThrow(expect.objectContaining({ code }));
  });
});

describe('the paths of an archive', () => {
  const added = (...paths: string[]) => {
    const all = new EntryPaths();
    return paths.flatMap((path) =>
      path.endsWith('/') ? all.add(path.slice(0, -1), 'folder') : all.add(path, 'file'),
    );
  };

  it('answer with the folders that must be made', () => {
    expect(added('a/b/c', 'a/b/d', 'a/e/', 'a/')).toEqual(['a', 'a/b', 'a/e']);
  });

  it.each([
    [['a', 'a'], 'ARCHIVE_DUPLICATE'],
    [['a/', 'a/'], 'ARCHIVE_DUPLICATE'],
    [['a', 'a/b'], 'ARCHIVE_DUPLICATE'],
    [['a/b', 'a'], 'ARCHIVE_DUPLICATE'],
    [['a/', 'a'], 'ARCHIVE_DUPLICATE'],
    [['a', 'a/'], 'ARCHIVE_DUPLICATE'],
    [['a', 'A'], 'ARCHIVE_NAME_CLASH'],
    [['a/b', 'A/c'], 'ARCHIVE_NAME_CLASH'],
    [['\u00e9', 'e\u0301'], 'ARCHIVE_NAME_CLASH'],
    [['straße', 'STRASSE'], 'ARCHIVE_NAME_CLASH'],
  ])('%j are refused: %s', (paths, code) => {
    expect(() => added(...paths)).toThrow(expect.objectContaining({ code }));
  });
});

import { expect, test } from 'vitest';
import { clip, columns, widthOf } from './columns.ts';
import { printable, printableJson, printableLines } from '../../core/values/printable.ts';

test('columns are as wide as their widest cell, and nothing trails', () => {
  const rows = [
    ['ID', 'STATUS', 'DETAIL'],
    ['1', 'succeeded', ''],
    ['22222', 'failed', 'boom'],
  ];
  expect(columns(rows)).toEqual([
    'ID     STATUS     DETAIL',
    '1      succeeded',
    '22222  failed     boom',
  ]);
});

test('wide letters keep their columns straight', () => {
  expect(
    columns([
      ['名前', 'x'],
      ['name', 'x'],
    ]),
  ).toEqual(['名前  x', 'name  x']);
  expect(widthOf('é')).toBe(1);
  expect(widthOf('e\u0301')).toBe(1);
  expect(widthOf('👩‍👩‍👧')).toBe(2);
});

test('a line too long for the terminal ends in an ellipsis', () => {
  expect(columns([['a', 'bcdefgh']], 6)).toEqual(['a  bc…']);
  expect(clip('名前名前', 5)).toBe('名前…');
  expect(clip('short', 5)).toBe('short');
});

test('what a job says cannot steer the terminal', () => {
  expect(printable('\u001b[2Jgone\u0007\r\n\tx')).toBe('\\u001b[2Jgone\\u0007\\r\\n\\tx');
  expect(printable('\u009b31m\u202eabc\ud800')).toBe('\\u009b31m\\u202eabc\ufffd');
  expect(printable('Jörg 名前 👩‍👧')).toBe('Jörg 名前 👩‍👧');
  expect(columns([['\u001b[31m', 'x']])).toEqual(['\\u001b[31m  x']);
  expect(printableLines('a\r\nb\u001bc')).toEqual(['a', 'b\\u001bc']);
});

test('printed JSON is still the same JSON', () => {
  const value = { text: '\u001b\u007f\u009b\u202e\n"', deep: [1, null] };
  for (const indent of [undefined, 2]) {
    const text = printableJson(value, indent);
    expect(JSON.parse(text)).toEqual(value);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
  }
  expect(printableJson(undefined)).toBe('null');
});

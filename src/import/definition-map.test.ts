import { describe, expect, it } from 'vitest';
import { DefinitionMap } from './definition-map.ts';

describe('the map of definitions', () => {
  it('maps names, all others, or nothing', () => {
    const map = DefinitionMap.parse(['Send Mail=mail.send', 'a=b=c']);
    expect(['Send Mail', 'a=b', 'plain', '_odd'].map((name) => map.keyOf(name))).toEqual([
      'mail.send',
      'c',
      'plain',
      null,
    ]);
    expect(DefinitionMap.parse(['x=y', '*=rest']).keyOf('_odd')).toBe('rest');
  });

  it.each(['mail', '=mail', 'mail=', 'mail=a b'])('refuses %s', (pair) => {
    expect(() => DefinitionMap.parse([pair])).toThrow(/--map/);
  });
});

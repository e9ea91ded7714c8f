import { expect, it } from 'vitest';
import type { DefinitionLogView } from '../../../../src/core/views/history.ts';
import { appendTail } from './definition-tail.ts';

const lines = (...ids: number[]) => ids.map((id) => ({ id: String(id) }) as DefinitionLogView);
const shown = ({ lines: all }: { lines: readonly { id: string }[] }) => all.map(({ id }) => id);

it('adds lines once, and drops the oldest', () => {
  const first = appendTail({ lines: [], dropped: 0 }, lines(1, 2, 3), 4);
  const second = appendTail(first, lines(2, 3, 4, 5), 4);
  expect([shown(second), second.dropped]).toEqual([['2', '3', '4', '5'], 1]);
});

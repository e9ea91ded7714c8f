import { expect, it } from 'vitest';
import { Capacity } from './capacity.ts';

const lender = (capacity: Capacity, idle: number) => {
  const one = {
    idle,
    endIdle() {
      if (one.idle === 0) return false;
      one.idle -= 1;
      capacity.leave();
      return true;
    },
  };
  capacity.join(one);
  for (let count = 0; count < idle; count += 1) capacity.take();
  return one;
};

it('an idle runner of another kind makes room, when there is none', () => {
  const capacity = new Capacity(3);
  const [first, second] = [lender(capacity, 1), lender(capacity, 2)];
  expect(capacity.free).toBe(false);
  capacity.makeRoom(first);
  expect([first.idle, second.idle, capacity.free]).toEqual([1, 1, true]);
  capacity.makeRoom(first);
  expect([first.idle, second.idle]).toEqual([1, 1]);
});

it('no runner is ended that is not idle', () => {
  const capacity = new Capacity(1);
  const [first, second] = [lender(capacity, 0), lender(capacity, 0)];
  capacity.take();
  capacity.makeRoom(second);
  expect([first.idle, capacity.free]).toEqual([0, false]);
});

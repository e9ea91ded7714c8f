import { expect, it } from 'vitest';
import { Berths } from './capacity.ts';

const lender = (berths: Berths, idle: number) => {
  const one = {
    idle,
    endIdle() {
      if (one.idle === 0) return false;
      one.idle -= 1;
      berths.leave();
      return true;
    },
  };
  berths.join(one);
  for (let count = 0; count < idle; count += 1) berths.take();
  return one;
};

it('an idle runner of another kind makes room, when there is none', () => {
  const berths = new Berths(3);
  const [first, second] = [lender(berths, 1), lender(berths, 2)];
  expect(berths.free).toBe(false);
  berths.makeRoom(first);
  expect([first.idle, second.idle, berths.free]).toEqual([1, 1, true]);
  berths.makeRoom(first);
  expect([first.idle, second.idle]).toEqual([1, 1]);
});

it('nobody is ended who is not idle', () => {
  const berths = new Berths(1);
  const [first, second] = [lender(berths, 0), lender(berths, 0)];
  berths.take();
  berths.makeRoom(second);
  expect([first.idle, berths.free]).toEqual([0, false]);
});

import { defineJob, NonRetryable } from 'longshore';
import { z } from 'zod';

export const pay = defineJob({
  key: 'pay',
  owner: 'team-billing',
  params: z.object({ customer: z.string(), cents: z.int() }),
  run({ customer, cents }) {
    if (cents <= 0) throw new NonRetryable(`${customer} cannot pay ${cents} cents`);
    return { paid: cents };
  },
});

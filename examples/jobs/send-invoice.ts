import { defineJob } from 'longshore';
import { z } from 'zod';

/** Has a schema: the dashboard makes a form from it, and params that do not fit are refused. */
export const sendInvoice = defineJob({
  key: 'send-invoice',
  owner: 'team-examples',
  description: 'Renders an invoice and pretends to send it.',
  params: z
    .strictObject({
      customer: z.string().min(1).max(200).describe('The name on the invoice.'),
      email: z.email().describe('Where the invoice is sent.'),
      amount: z.number().min(0.01).max(100_000).describe('The total, taxes included.'),
      currency: z.enum(['EUR', 'USD', 'GBP']).default('EUR'),
      copies: z.int().min(1).max(5).default(1),
      reminder: z.boolean().default(false).describe('Says that the invoice is overdue.'),
      address: z
        .strictObject({
          street: z.string().max(200),
          city: z.string().max(100),
          country: z.string().length(2).describe('Two letters, like DE.'),
        })
        .optional(),
    })
    .meta({
      examples: [{ customer: 'Ada Lovelace', email: 'ada@example.com', amount: 42.5, copies: 2 }],
    }),
  async run({ customer, email, amount, currency, copies, reminder }, ctx) {
    const kind = reminder ? 'reminder' : 'invoice';
    for (let copy = 1; copy <= copies; copy += 1) {
      ctx.logger.info(`${kind} for ${customer}: ${amount.toFixed(2)} ${currency}, copy ${copy}`);
      ctx.progress(copy / copies, `copy ${copy} of ${copies}`);
    }
    return { sentTo: email, copies };
  },
});

import { defineJob } from 'longshore';
import { z } from 'zod';
import { propose } from '../model.ts';

/**
 * An agent proposes a refund and mails a link. A person without an account opens it and decides. In
 * between the job has no process and no slot, for days if need be.
 */
export const refund = defineJob({
  key: 'approval.refund',
  owner: 'team-ai',
  params: z.object({
    order: z.int(),
    complaint: z.string(),
    /** Where letters are posted to. */
    mailbox: z.url(),
  }),
  async run({ order, complaint, mailbox }, ctx) {
    const proposal = await ctx.step('propose', async () => await propose(complaint));
    await ctx.step('mail', async () => {
      const text = `Refund ${proposal.euros} € for order ${order}?\n${proposal.reason}`;
      const link = await ctx.signalLink('decision', { text });
      const letter = { to: 'ada@example.com', text: `${text}\n${link}` };
      const { ok, status } = await fetch(mailbox, { method: 'POST', body: JSON.stringify(letter) });
      if (!ok) throw new Error(`the mailbox answered ${status}`);
    });
    const { approved, note } = await ctx.waitFor('decision', {
      timeoutMs: 7 * 24 * 3_600_000,
      schema: z.object({ approved: z.boolean(), note: z.string().optional() }),
    });
    return { order, refunded: approved ? proposal.euros : 0, note: note ?? null };
  },
});

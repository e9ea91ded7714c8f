import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { defineJob } from 'longshore';
import { z } from 'zod';

/** Writes a letter into an outbox file; in earnest this would call your mail provider. */
export const welcome = defineJob({
  key: 'mail.welcome',
  owner: 'team-growth',
  params: z.object({ email: z.email(), outbox: z.string() }),
  retry: 'webhook',
  async run({ email, outbox }, ctx) {
    // A step is stored before the job goes on: a retry sends no second letter.
    return await ctx.step('send', async () => {
      await mkdir(dirname(outbox), { recursive: true });
      await appendFile(outbox, `To: ${email}\nWelcome aboard!\n\n`);
      return { sentTo: email };
    });
  },
});

import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { defineJob, NonRetryable } from 'longshore';
import { z } from 'zod';
import { type Action, decide, type Turn } from '../model.ts';

/**
 * An agent: it asks a model what to do next, does it, and asks again. Its steps are not known in
 * advance, so it cannot be replayed like a workflow; the finished steps are its checkpoint instead.
 */
export const research = defineJob({
  key: 'agent.research',
  owner: 'team-ai',
  params: z.object({
    question: z.string(),
    folder: z.string(),
    turnsMax: z.int().default(40),
    /** For the demonstration: the process kills itself once, after so many turns. */
    crashAfter: z.int().optional(),
  }),
  maxAttempts: 50,
  timeoutSeconds: 600,
  retry: { baseMs: 100, maxMs: 5_000 },
  async run({ question, folder, turnsMax, crashAfter }, ctx) {
    const turns = (ctx.lastCheckpoint as Turn[] | undefined) ?? [];
    const resumedAt = turns.length;
    ctx.logger.info('attempt %d begins after %d turns', ctx.attempt, resumedAt);
    while (turns.length < turnsMax) {
      const action = await decide(question, turns, ctx.abortSignal);
      if (action.tool === 'answer') return { answer: action.text, turns: turns.length, resumedAt };
      turns.push({ action, seen: await act(action, folder) });
      await ctx.checkpoint(turns);
      await ctx.emitEvent('turn', action);
      ctx.progress(turns.length / turnsMax, `${action.tool}, turn ${turns.length}`);
      if (resumedAt < turns.length && turns.length === crashAfter)
        process.kill(process.pid, 'SIGKILL');
    }
    throw new NonRetryable(`no answer within ${turnsMax} turns`);
  },
});

async function act(action: Exclude<Action, { tool: 'answer' }>, folder: string): Promise<string> {
  // A model may ask for anything; it gets what lies in the folder, and nothing above it.
  if (action.tool === 'read')
    return await readFile(join(folder, basename(action.page)), 'utf8').then(brief);
  const pages = (await readdir(folder)).filter((name) => name.endsWith('.md'));
  const hits: string[] = [];
  for (const page of pages) {
    const text = await readFile(join(folder, page), 'utf8');
    if (text.toLowerCase().includes(action.word)) hits.push(page);
  }
  return hits.join('\n');
}

/** A checkpoint is limited to 1 MB, and the memory of a model is not endless either. */
function brief(text: string): string {
  return text.slice(0, 2_000);
}

import Fastify, { type FastifyInstance } from 'fastify';
import { enqueueIn, type JobStarter, NotFound } from 'longshore';
import type { Pool } from 'pg';
import { z } from 'zod';
import { inTransaction } from './database.ts';
import { welcome } from './jobs/welcome.ts';

const SignUp = z.object({ email: z.email() });

/** The application. It asks for something that can start jobs, and does not care where they run. */
export function buildApp(jobs: JobStarter, pool: Pool, outbox: string): FastifyInstance {
  const app = Fastify();

  app.post('/sign-ups', async (request, reply) => {
    const body = SignUp.safeParse(request.body);
    if (!body.success) return await reply.code(400).send({ error: 'an e-mail address is needed' });
    const { email } = body.data;
    // The person and the letter are stored together or not at all; who signs up twice gets one letter.
    const { jobId: id } = await inTransaction(pool, async (tx) => {
      await tx.query('insert into person (email) values ($1) on conflict do nothing', [email]);
      return await enqueueIn(tx, welcome, { email, outbox }, { idempotencyKey: email });
    });
    return await reply.code(202).send({ id });
  });

  app.get<{ Params: { id: string } }>('/sign-ups/:id', async (request, reply) => {
    try {
      const { status, result } = await jobs.handle(request.params.id).get();
      return await reply.send({ status, result });
    } catch (error) {
      if (error instanceof NotFound)
        return await reply.code(404).send({ error: 'no such sign-up' });
      throw error;
    }
  });

  return app;
}

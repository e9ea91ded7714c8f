import Fastify, { type FastifyInstance } from 'fastify';
import { type JobStarter, NotFound } from 'longshore';
import { z } from 'zod';
import { welcome } from './jobs/welcome.ts';

const SignUp = z.object({ email: z.email() });

/** The application. It asks for something that can start jobs, and does not care where they run. */
export function buildApp(jobs: JobStarter, outbox: string): FastifyInstance {
  const app = Fastify();

  app.post('/sign-ups', async (request, reply) => {
    const body = SignUp.safeParse(request.body);
    if (!body.success) return await reply.code(400).send({ error: 'an e-mail address is needed' });
    const { email } = body.data;
    // Somebody who presses the button twice gets one letter.
    const job = await jobs.enqueue(welcome, { email, outbox }, { idempotencyKey: email });
    return await reply.code(202).send({ id: job.id });
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

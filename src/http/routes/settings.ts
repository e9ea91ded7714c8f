import type { FastifyInstance } from 'fastify';
import { SettingsAnswer } from '../../protocol/answers/settings-answer.ts';
import type { HttpDeps } from '../deps.ts';
import { answer } from '../openapi.ts';

const GET = {
  operationId: 'getSettings',
  tags: ['access'],
  summary: 'List the settings of the server',
  description:
    'Settings of the responding process, without secrets. Other processes may have other ' +
    'settings.',
  response: { 200: answer('The settings.', SettingsAnswer) },
};

export function settingsRoutes(app: FastifyInstance, { settings = [], version }: HttpDeps): void {
  const config = { access: 'admin', ofDefaultTenant: true } as const;
  app.get('/v1/settings', { schema: GET, config }, async () => ({ version, settings }));
}

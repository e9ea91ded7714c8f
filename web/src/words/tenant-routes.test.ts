import { expect, it } from 'vitest';
import { acceptsTenant, tenantRoutesOf } from './tenant-routes.ts';

const tenant = { parameters: [{ name: 'tenant', in: 'query' }] };
const routes = tenantRoutesOf({
  paths: {
    '/v1/jobs/{jobId}': { get: tenant, delete: {} },
    '/v1/jobs/bulk': { get: {} },
    '/v1/tenants': { get: { parameters: [{ name: 'tenant', in: 'path' }] } },
  },
});

it.each([
  ['GET', '/v1/jobs/0199f0a1', true],
  ['DELETE', '/v1/jobs/0199f0a1', false],
  ['GET', '/v1/jobs/bulk', false],
  ['GET', '/v1/tenants', false],
  ['GET', '/v1/jobs/0199f0a1/logs', false],
])('%s %s takes a tenant: %s', (method, path, takes) => {
  expect(acceptsTenant(routes, method, path)).toBe(takes);
});

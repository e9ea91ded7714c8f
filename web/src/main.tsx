import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './runtime/place.ts';
import './runtime/theme.ts';
import { ProblemError } from './api/problem-error.ts';
import { router } from './app/router.tsx';
import './styles/index.css';

/** A refusal stays a refusal; only what may pass is asked again before a person is told. */
const RETRIES_MAX = 2;
const client = new QueryClient({
  defaultOptions: {
    mutations: { networkMode: 'always' },
    queries: {
      // A browser that thinks it is offline still reaches a server on its own machine.
      networkMode: 'always',
      retry: (failures, error) =>
        failures < RETRIES_MAX &&
        (!(error instanceof ProblemError) || error.status === 0 || error.status >= 500),
    },
  },
});

const place = document.querySelector('#root');
if (place) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

import './runtime/locale.ts';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './runtime/urls.ts';
import './runtime/theme.ts';
import { ProblemError } from './api/problem-error.ts';
import { router } from './app/router.tsx';
import './styles/index.css';

/** Only network errors and 5xx are retried before an error is shown. */
const RETRIES_MAX = 2;
const client = new QueryClient({
  defaultOptions: {
    mutations: { networkMode: 'always' },
    queries: {
      // A browser that is offline still reaches a server on its own machine.
      networkMode: 'always',
      retry: (failures, error) =>
        failures < RETRIES_MAX &&
        (!(error instanceof ProblemError) || error.status === 0 || error.status >= 500),
    },
  },
});

const root = document.querySelector('#root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

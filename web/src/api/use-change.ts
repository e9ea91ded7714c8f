import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toasts } from '../parts/toasts.tsx';
import { failedChangeText, isRefused } from './problem-error.ts';

/**
 * A change made by the user: shows a toast for success or failure, and refetches everything, since
 * a change can affect any query. With `inForm`, the form itself shows why the server refused it.
 */
export function useChange<Argument, Answer>(
  change: (argument: Argument) => Promise<Answer>,
  done: (answer: Answer, argument: Argument) => string | null,
  { inForm = false } = {},
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (answer, argument) => {
      const sentence = done(answer, argument);
      if (sentence !== null) toasts.add('good', sentence);
    },
    onError: (error) => {
      if (!inForm || !isRefused(error)) toasts.add('bad', failedChangeText(error));
    },
    onSettled: async () => await client.invalidateQueries(),
  });
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toasts } from '../parts/toasts.tsx';
import { failedChangeText, isRefused, ProblemError } from './problem-error.ts';

/**
 * A change made by the user: shows a toast for success or failure, and refetches everything, since
 * a change can affect any query. With `inForm`, the form itself shows why the server refused it; a
 * form that may be gone by then asks for `'fields'`, and shows only what is wrong with its fields. A
 * dialog shows `'all'`.
 */
export function useChange<Argument, Answer>(
  change: (argument: Argument) => Promise<Answer>,
  done: (answer: Answer, argument: Argument) => string | null,
  { inForm = false }: { inForm?: boolean | 'fields' | 'all' } = {},
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (answer, argument) => {
      const sentence = done(answer, argument);
      if (sentence !== null) toasts.add('good', sentence);
    },
    onError: (error) => {
      const hasFields = error instanceof ProblemError && error.violations.length > 0;
      const isShown =
        inForm === 'all' || (inForm === 'fields' ? hasFields : inForm && isRefused(error));
      if (!isShown) toasts.add('bad', failedChangeText(error));
    },
    onSettled: async () => {
      const reading = client.invalidateQueries();
      // A dialog does not wait for the screen behind it.
      if (inForm !== 'all') await reading;
    },
  });
}

/** The action of a dialog (`parts/ask.tsx`), which stays open and shows why it failed. */
export function useAsked<Argument, Answer>(
  change: (argument: Argument) => Promise<Answer>,
  done: (answer: Answer, argument: Argument) => string | null,
) {
  return useChange(change, done, { inForm: 'all' }).mutateAsync;
}

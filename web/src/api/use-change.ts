import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toasts } from '../parts/toasts.tsx';
import { tellFailedChange } from './problem-error.ts';

/**
 * Something that a person makes happen: says when it has, says what to do when it has not, and lets
 * everything on the screen be asked again, since a change may show anywhere.
 */
export function useChange<Argument, Answer>(
  change: (argument: Argument) => Promise<Answer>,
  done: (answer: Answer, argument: Argument) => string | null,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (answer, argument) => {
      const sentence = done(answer, argument);
      if (sentence !== null) toasts.add('good', sentence);
    },
    onError: (error) => toasts.add('bad', tellFailedChange(error)),
    onSettled: async () => await client.invalidateQueries(),
  });
}

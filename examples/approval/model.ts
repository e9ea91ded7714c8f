/**
 * Stands for a call to a language model, so that the example costs nothing and needs no key. Put the
 * call to your provider here; the job stays as it is.
 */
export async function propose(complaint: string): Promise<{ euros: number; reason: string }> {
  const broken = /broken|damaged|defect/i.test(complaint);
  return broken
    ? { euros: 40, reason: 'The customer says that it arrived broken.' }
    : { euros: 10, reason: 'The customer is not content.' };
}

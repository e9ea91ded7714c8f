/**
 * What a job writes waits inside its process or thread while nobody reads it, and would come out
 * under the name of the next job. So an outcome is told when all of it is out.
 */
export function afterOutput(then: () => void): void {
  const stream = [process.stdout, process.stderr].find(
    ({ writable, writableLength }) => writable && writableLength > 0,
  );
  if (stream) stream.write('', () => afterOutput(then));
  else then();
}

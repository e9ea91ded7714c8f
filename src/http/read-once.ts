/** Reads on the first call and keeps the result. After a failure the next call reads again. */
export function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return async () => {
    reading ??= read();
    return await reading.catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
  };
}

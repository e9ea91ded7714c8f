/** What to do when it fails, where its team has written that down. Nothing is told to where it leads. */
export function RunbookLink({ url }: { url: string | null | undefined }) {
  if (!url) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      Runbook
    </a>
  );
}

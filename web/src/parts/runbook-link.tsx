/** Link to the definition's runbook, without a referrer. */
export function RunbookLink({ url }: { url: string | null | undefined }) {
  if (!url) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      Runbook
    </a>
  );
}

import { plainText } from '../words/jobs/log-tail.ts';

/** An error in at most two lines; the full text is in the tooltip. */
export function FailureText({ code, message }: { code: string; message: string }) {
  const text = plainText(message);
  return (
    <span className="remark" title={text}>
      <code className="code">{code}</code> {text}
    </span>
  );
}

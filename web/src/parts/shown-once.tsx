import { Command } from './copy-button.tsx';
import { useModal } from './ask.tsx';

/** A secret that only this answer has: it is gone when this is closed. */
export function ShownOnce({
  title,
  secret,
  children,
  onClose,
}: {
  title: string;
  secret: string;
  children: string;
  onClose: () => void;
}) {
  const ref = useModal();
  return (
    <dialog ref={ref} className="dialog" aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      <p>{children}</p>
      <Command text={secret} />
      <p className="soft">It is shown this once. Nobody can look it up later.</p>
      <div className="dialog-actions">
        <button type="button" className="primary" onClick={() => ref.current?.close()}>
          I have it
        </button>
      </div>
    </dialog>
  );
}

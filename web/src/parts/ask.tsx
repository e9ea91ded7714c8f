import { type ComponentProps, type ReactNode, useEffect, useRef, useState } from 'react';

/** A confirmation dialog. */
export function Ask({
  title,
  children,
  confirm,
  dismiss = 'Cancel',
  tone = 'danger',
  onConfirm,
  onClose,
}: {
  title: string;
  children: ReactNode;
  confirm: string;
  /** Closes the dialog without an action. */
  dismiss?: string;
  tone?: 'danger' | 'primary';
  /** Return `stay` to keep the dialog open. */
  onConfirm: () => 'stay' | 'close' | void;
  onClose: () => void;
}) {
  const ref = useModal();
  return (
    <dialog ref={ref} className="dialog" aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
      <div className="dialog-actions">
        <button type="button" onClick={() => ref.current?.close()}>
          {dismiss}
        </button>
        <button
          type="button"
          className={tone}
          onClick={() => {
            if (onConfirm() !== 'stay') ref.current?.close();
          }}
        >
          {confirm}
        </button>
      </div>
    </dialog>
  );
}

/** A button that opens a confirmation dialog. */
export function AskButton({
  label,
  className,
  ...ask
}: { label: ReactNode; className?: string } & Omit<ComponentProps<typeof Ask>, 'onClose'>) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className={className} onClick={() => setAsking(true)}>
        {label}
      </button>
      {asking && <Ask {...ask} onClose={() => setAsking(false)} />}
    </>
  );
}

export function useModal() {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return ref;
}

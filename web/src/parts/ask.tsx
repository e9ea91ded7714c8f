import { useLocation, useNavigate } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useRef, useState } from 'react';
import { changeComplaints, failedChangeText } from '../api/problem-error.ts';
import { Complaint, Dialog, useModal } from './dialog.tsx';
import { toasts } from './toasts.tsx';

/** A dialog with one action. It stays open until the action succeeded, and shows why it failed. */
export function Ask({
  title,
  children,
  confirm,
  dismiss = 'Cancel',
  tone = 'danger',
  labels,
  complaints = (error) => changeComplaints(error, labels),
  onConfirm,
  onClose,
}: {
  title: string;
  children: ReactNode;
  confirm: string;
  /** Closes the dialog without an action. */
  dismiss?: string;
  tone?: 'danger' | 'primary';
  /** Labels of its fields by their name in the API, where `fieldLabel` does not know them. */
  labels?: Readonly<Record<string, string>>;
  /** Why the action failed, if the fields show a part of it themselves. */
  complaints?: (error: unknown) => readonly string[];
  /** The running action (`useAsked`); or `stay` if the fields are wrong, or `close`. */
  onConfirm: () => Promise<unknown> | 'stay' | 'close';
  onClose: () => void;
}) {
  const modal = useModal();
  const { running, failure, act } = useAction(modal);
  return (
    <Dialog modal={modal} title={title} running={running} onClose={onClose}>
      {children}
      <Complaint wrong={failure === null ? [] : complaints(failure)} />
      <div className="dialog-actions">
        <button type="button" disabled={running} onClick={() => modal.current?.close()}>
          {dismiss}
        </button>
        <button
          type="button"
          className={tone}
          disabled={running}
          aria-busy={running}
          onClick={() => act(onConfirm)}
        >
          {confirm}
        </button>
      </div>
    </Dialog>
  );
}

/** Runs the action of a dialog, one at a time. It closes the dialog when it succeeded. */
function useAction(modal: ReturnType<typeof useModal>) {
  const [running, setRunning] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  // A second click can come before the button is disabled.
  const isBusy = useRef(false);
  const wait = async (action: Promise<unknown>) => {
    isBusy.current = true;
    setRunning(true);
    try {
      await action;
      modal.current?.close();
    } catch (error) {
      // What opened the dialog may be gone, and the dialog with it.
      if (modal.current === null) toasts.add('bad', failedChangeText(error));
      else setFailure(error);
    } finally {
      isBusy.current = false;
      setRunning(false);
    }
  };
  const act = (begin: () => Promise<unknown> | 'stay' | 'close') => {
    if (isBusy.current) return;
    const begun = begin();
    setFailure(null);
    if (begun === 'close') modal.current?.close();
    else if (begun !== 'stay') void wait(begun);
  };
  return { running, failure, act };
}

/** A button that opens such a dialog; so does `#opener` in the address. */
export function AskButton({
  label,
  className,
  opener,
  ...ask
}: { label: ReactNode; className?: string; opener?: string } & Omit<
  ComponentProps<typeof Ask>,
  'onClose'
>) {
  const navigate = useNavigate();
  const isOpened = useLocation({ select: ({ hash }) => opener !== undefined && hash === opener });
  const [isClicked, setClicked] = useState(false);
  const close = () => {
    setClicked(false);
    if (isOpened) void navigate({ to: '.', search: true, replace: true, resetScroll: false });
  };
  return (
    <>
      <button type="button" className={className} onClick={() => setClicked(true)}>
        {label}
      </button>
      {(isClicked || isOpened) && <Ask {...ask} onClose={close} />}
    </>
  );
}

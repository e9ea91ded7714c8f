import { createCell } from '../runtime/cell.ts';
import { Command } from './copy-button.tsx';
import { useModal } from './dialog.tsx';

/**
 * A secret that the server returns only once. It is shown outside the screens, so that neither a
 * screen change nor a sign-in hides it before the user confirms that it is stored.
 */
interface Secret {
  title: string;
  secret: string;
  text: string;
}

const shown = createCell<Secret | null>(null);

export const shownOnce = { open: shown.set };

export function ShownOnce() {
  const secret = shown.use();
  return secret && <SecretDialog key={secret.secret} {...secret} />;
}

function SecretDialog({ title, secret, text }: Secret) {
  const ref = useModal();
  return (
    <dialog
      ref={ref}
      className="dialog"
      aria-label={title}
      // Escape closes other dialogs; here it would lose the secret.
      onCancel={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.preventDefault();
      }}
      onClose={() => shownOnce.open(null)}
    >
      <h2>{title}</h2>
      <p>{text}</p>
      <Command text={secret} />
      <p className="soft">It is shown only once. The server keeps no copy.</p>
      <div className="dialog-actions">
        <button type="button" className="primary" onClick={() => ref.current?.close()}>
          I have stored it
        </button>
      </div>
    </dialog>
  );
}

import { actorWords } from '../../../../src/core/identity/actor.ts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type SavedView,
  VIEW_NAME_MAX,
  type ViewScreen,
} from '../../../../src/core/search/saved-view.ts';
import { call } from '../../api/call.ts';
import { viewsQuery } from '../../api/search-queries.ts';
import { useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { parseUrlSearch } from '../../words/url-search.ts';
import { changeComplaints } from '../../api/problem-error.ts';
import { Complaint, Dialog, useModal } from '../dialog.tsx';
import { Drop } from './drop.tsx';

const PATHS: Record<ViewScreen, string> = { jobs: '/jobs', 'dead-letters': '/dead-letters' };

/** Saved views of a screen. `query` is the query string of what is shown, without the page. */
export function ViewsMenu({ screen, query }: { screen: ViewScreen; query: string }) {
  const { data: all = [] } = useQuery(viewsQuery());
  const [saving, setSaving] = useState(false);
  const may = useMay('jobs:write');
  const views = all.filter((view) => view.screen === screen);
  const current = views.find((view) => view.query === query);
  return (
    <>
      <Drop label={current ? `View: ${current.name}` : 'Views'}>
        {views.length === 0 && <p className="soft">No saved views yet.</p>}
        <ul aria-label="Saved views">
          {views.map((view) => (
            <li key={view.name}>
              <Link
                {...({ to: PATHS[screen], search: parseUrlSearch(view.query) } as LinkProps)}
                aria-current={view === current ? 'page' : undefined}
                activeProps={{}}
                title={`Saved by ${actorWords(view.updatedBy)}`}
              >
                {view.name}
              </Link>
              {may && <DeleteButton view={view} />}
            </li>
          ))}
        </ul>
        {may && (
          <button type="button" disabled={query === ''} onClick={() => setSaving(true)}>
            Save this view…
          </button>
        )}
        {may && query === '' && <p className="soft">Search or filter first.</p>}
      </Drop>
      {saving && (
        <SaveDialog
          screen={screen}
          query={query}
          known={all.map(({ name }) => name)}
          onClose={() => setSaving(false)}
        />
      )}
    </>
  );
}

function DeleteButton({ view: { name } }: { view: SavedView }) {
  const client = useQueryClient();
  const remove = useChange(
    async () => await call('DELETE', `/v1/views/${encodeURIComponent(name)}`),
    () => {
      void client.invalidateQueries({ queryKey: ['views'] });
      return `View “${name}” deleted.`;
    },
  );
  return (
    <button
      type="button"
      className="quiet small"
      aria-label={`Delete the view ${name}`}
      onClick={() => remove.mutate(undefined)}
    >
      ×
    </button>
  );
}

function SaveDialog({
  screen,
  query,
  known,
  onClose,
}: {
  screen: ViewScreen;
  query: string;
  known: readonly string[];
  onClose: () => void;
}) {
  const ref = useModal();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const typed = name.trim();
  const save = useChange(
    async () =>
      await call('PUT', `/v1/views/${encodeURIComponent(typed)}`, { body: { screen, query } }),
    () => {
      void client.invalidateQueries({ queryKey: ['views'] });
      ref.current?.close();
      return `View “${typed}” saved.`;
    },
    { inForm: 'all' },
  );
  return (
    <Dialog modal={ref} title="Save this view" running={save.isPending} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed !== '' && !save.isPending) save.mutate(undefined);
        }}
      >
        <p className="soft">Everyone in this tenant can see it.</p>
        <label className="field">
          <span>Name</span>
          <input
            value={name}
            maxLength={VIEW_NAME_MAX}
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <Complaint wrong={save.error ? changeComplaints(save.error) : []} />
        <div className="dialog-actions">
          <button type="button" onClick={() => ref.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={typed === '' || save.isPending}>
            {known.includes(typed) ? 'Replace' : 'Save'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The name and colour of this installation, which the server writes into the page; or null. */
const meta = document.querySelector<HTMLMetaElement>('meta[name="longshore-environment"]');

export const environment: { name: string; color: string } | null = meta && {
  name: meta.content,
  color: meta.dataset['color'] ?? 'blue',
};

import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * All addresses are relative to the `<base>` of the page, which the server writes: so the same files
 * work below any path. `npm run web` serves the sources beside a server that runs on the usual port.
 */
export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  base: command === 'serve' ? '/ui/' : './',
  plugins: [
    react(),
    {
      name: 'base-of-the-page',
      apply: 'serve',
      transformIndexHtml: (page) => page.replace('<base href="./" />', '<base href="/ui/" />'),
    },
  ],
  server: { proxy: { '/v1': 'http://127.0.0.1:4400', '/openapi.json': 'http://127.0.0.1:4400' } },
  build: {
    // Browsers of 2024 and later: they all know light-dark().
    target: ['chrome123', 'firefox121', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
}));

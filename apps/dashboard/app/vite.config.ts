import { serviceWorker } from '@svc/chat-ui/worker/service-worker-plugin.ts';
import react from '@vitejs/plugin-react';
import path from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const entry = (name: string) => path.join(import.meta.dirname, name);

/** Hashed assets, no inline script or style: the CSP allows none. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), preloadNext(), serviceWorker()],
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { input: [entry('index.html'), entry('login.html'), entry('setup.html'), entry('offline.html')] },
  },
});

/** A page asks for what follows its language at once, not when it knows that its language is English. */
function preloadNext(): Plugin {
  return {
    name: 'preload-next',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {}, chunk }) {
        const next = new Set<string>();
        const follow = (file: string): void => {
          const found = bundle[file];
          if (found?.type !== 'chunk' || next.has(file)) return;
          next.add(file);
          found.imports.forEach(follow);
        };
        const isLanguage = (file: string) =>
          bundle[file]?.type === 'chunk' && /\/languages\//.test(bundle[file].facadeModuleId ?? '');
        chunk?.dynamicImports.filter((file) => !isLanguage(file)).forEach(follow);
        return [...next].map((file) => ({
          tag: 'link',
          injectTo: 'head',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `/${file}` },
        }));
      },
    },
  };
}

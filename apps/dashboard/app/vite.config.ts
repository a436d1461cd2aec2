import { serviceWorker } from '@svc/chat-ui/worker/service-worker-plugin.ts';
import react from '@vitejs/plugin-react';
import path from 'node:path';
import { defineConfig } from 'vite';

const entry = (name: string) => path.join(import.meta.dirname, name);

/** Hashed assets, no inline script or style: the CSP allows none. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), serviceWorker()],
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { input: [entry('index.html'), entry('login.html'), entry('setup.html'), entry('offline.html')] },
  },
});

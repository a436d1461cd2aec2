import '@svc/chat-ui/style/tokens.css';
import '@svc/chat-ui/style/base.css';
import '@svc/chat-ui/style/transcript.css';
import '@svc/chat-ui/style/markdown.css';
import '@svc/chat-ui/style/composer.css';
import '@svc/chat-ui/style/steps.css';
import '@svc/chat-ui/style/find.css';
import '@svc/chat-ui/style/worker.css';
import './shell/shell.css';
import './parts/parts.css';
import './parts/chart/chart.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { queryClient } from './parts/query.ts';
import { App } from './shell/app.tsx';
import { applyTheme } from './shell/theme.ts';

applyTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('The page has no place for the app.');
createRoot(root).render(
  <QueryClientProvider client={queryClient}>
    <App />
  </QueryClientProvider>,
);

import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { queryClient } from '../parts/query.ts';
import { App } from './app.tsx';
import { applyTheme } from './theme.ts';

applyTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('The page has no place for the app.');
createRoot(root).render(
  <QueryClientProvider client={queryClient}>
    <App />
  </QueryClientProvider>,
);

import '@svc/chat-ui/style/tokens.css';
import '@svc/chat-ui/style/base.css';
import '@svc/chat-ui/style/transcript.css';
import '@svc/chat-ui/style/markdown.css';
import '@svc/chat-ui/style/composer.css';
import '@svc/chat-ui/style/steps.css';
import '@svc/chat-ui/style/find.css';
import '@svc/chat-ui/style/worker.css';
import './app.css';
import './settings.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the app.');
createRoot(root).render(<App />);

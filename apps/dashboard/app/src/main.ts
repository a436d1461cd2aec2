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
import { loadLanguage } from './language/load-language.ts';

await loadLanguage();
await import('./shell/start.tsx');

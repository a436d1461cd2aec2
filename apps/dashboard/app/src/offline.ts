import '@svc/chat-ui/style/tokens.css';
import '@svc/chat-ui/style/base.css';
import '@svc/chat-ui/style/worker.css';
import { loadLanguage } from './language/load-language.ts';

await loadLanguage();
await import('./entry/offline-page.ts');

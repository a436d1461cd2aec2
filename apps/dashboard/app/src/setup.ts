import '@svc/chat-ui/style/tokens.css';
import '@svc/chat-ui/style/base.css';
import './entry/entry.css';
import './parts/qr.css';
import { loadLanguage } from './language/load-language.ts';

await loadLanguage();
await import('./entry/setup-page.ts');

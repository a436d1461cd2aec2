import '@svc/chat-ui/style/tokens.css';
import '@svc/chat-ui/style/base.css';
import '@svc/chat-ui/style/worker.css';
import { showWaiting } from '@svc/chat-ui/worker/show-waiting.ts';
import { lastUser } from './shell/last-user.ts';
import { writerName } from './parts/conversation/writer-name.ts';

const user = lastUser();
await showWaiting(user === null ? null : writerName(user));

import '@svc/chat-ui/style/tokens.css';
import '@svc/chat-ui/style/base.css';
import '@svc/chat-ui/style/worker.css';
import { showWaiting } from '@svc/chat-ui/worker/show-waiting.ts';
import { readDevice } from './device.ts';

await showWaiting((await readDevice())?.instance_id ?? null);

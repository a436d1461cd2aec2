import { findOwnModules } from '@svc/service-kit/own-imports.ts';

findOwnModules();
const { runChild } = await import('./child/run-child.ts');

/** Entry of a connector process. The manager forks it and sends one `start` message. */
runChild();

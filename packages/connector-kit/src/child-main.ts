import { runChild } from './child/run-child.ts';

/** Entry of a connector process. The manager forks it and sends one `start` message. */
runChild();

import { transcriptEngines, type TranscriptEngine } from './transcript-line.ts';

/** The key of a session that is no conversation of the service. */
export const terminalKey = (engine: TranscriptEngine, engineSessionId: string): string => `terminal:${engine}:${engineSessionId}`;

const pattern = new RegExp(`^terminal:(?:${transcriptEngines.join('|')}):[^:]+$`);

export const isTerminalKey = (key: string): boolean => pattern.test(key);

import { parseRecordOrNull } from '@svc/contract/json-value.ts';

/**
 * A masked log line as JSON. A mask that runs to the end of the text (a key block without an end line) may remove the end of
 * the JSON: the line is then rebuilt, with what is left as its message.
 */
export function asLogLine(line: string, masked: string): string {
  if (masked === line) return line;
  const end = line.endsWith('\n') ? '\n' : '';
  const fields = parseRecordOrNull(line);
  if (fields === null) return masked.endsWith(end) ? masked : masked + end;
  if (parseRecordOrNull(masked) !== null) return masked;
  const { level, time, service } = fields;
  return JSON.stringify({ level, time, service, msg: masked.trimEnd() }) + end;
}

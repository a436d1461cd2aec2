/** Answer of `GET /v2/persona`. `file` is where the operator's own words go, there or not. */
export type PersonaView = {
  text: string;
  bytes: number;
  source: 'built-in' | 'extended' | 'replaced';
  file: string;
  fault: string | null;
};

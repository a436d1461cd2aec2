export { meta } from './meta.ts';
export { start } from './start.ts';

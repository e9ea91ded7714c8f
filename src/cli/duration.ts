export { age, duration } from '../core/duration.ts';

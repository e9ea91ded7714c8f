/** Only if a value is large: then `params` or `result` of the view is null. */
export interface LargeView {
  largeParams?: { bytes: number } | undefined;
  largeResult?: { bytes: number } | undefined;
}

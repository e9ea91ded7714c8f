/** One setting as it may be shown. Secrets are not part of this. */
export interface SettingView {
  /** The name of the environment variable. */
  name: string;
  value: string | number | null;
  meaning: string;
}

export interface SettingsView {
  version: string;
  settings: SettingView[];
}

// Style sheets are imported for the build to collect.
declare module '*.css';

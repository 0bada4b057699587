mod get;
mod stream;

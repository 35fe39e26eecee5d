"""What tests share: servers, rigs, fakes, and rows made through the product's own actions."""

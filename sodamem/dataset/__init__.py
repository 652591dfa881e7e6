"""Where histories and questions come from: one module or package per dataset."""
